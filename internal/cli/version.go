package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the version that the build recorded, or "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

func (p *program) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Show the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return p.writeJSON(map[string]string{"version": p.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			return p.writeVersion()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (p *program) writeVersion() error {
	_, err := fmt.Fprintf(p.Out, "overt %s %s/%s %s\n", p.Version, runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}
