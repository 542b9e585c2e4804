package policy

// table gives the spec of a program. The families of programs follow, one function each; they are functions so that
// nothing is built before it is needed.
func table(name string) (spec, bool) {
	for _, family := range []func(string) spec{textPrograms, filePrograms, machinePrograms, projectPrograms, strongPrograms} {
		if s := family(name); s != "" {
			return s, true
		}
	}
	return "", false
}

// textPrograms read files or their input, and print.
func textPrograms(name string) spec {
	switch name {
	case "nl":
		return "-p -bdfhilnsvw# --body-numbering|section-delimiter|footer-numbering|header-numbering|line-increment|join-blank-lines|number-format|no-renumber|number-separator|starting-line-number|number-width? <"
	case "cat", "tac", "zcat", "bzcat", "xzcat", "zstdcat", "gzcat":
		if name == "zstdcat" {
			return "-vlfkq -o> --quiet|verbose <"
		}
		return "-AbeEnstTuvlipfdNrkqS --show-all|number-nonblank|show-ends|number|squeeze-blank|show-tabs|show-nonprinting|separator? -whvb? <"
	case "head", "tail":
		return "-0123456789qvzfFr -nc# --lines|bytes|pid|sleep-interval|max-unchanged-stats# --quiet|silent|verbose|zero-terminated|retry|follow? -s# <"
	case "wc", "cksum", "sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "shasum", "md5", "crc32", "base32", "base64", "base58", "basenc":
		return "-clmwLbtzdDiqrsU0123456789 -aw# --bytes|chars|lines|words|max-line-length|total|binary|text|tag|zero|check|quiet|status|strict|warn|ignore-missing|decode|ignore-garbage|wrap|algorithm|base64|base64url|base32|base16? <"
	case "grep", "egrep", "fgrep", "zgrep", "pcregrep":
		return "-abcEFGHhiILlnoPqRrsTUuVvwxyzZ0123456789 -ABCmdDM# -e+ -f& --ignore-case|no-ignore-case|invert-match|word-regexp|line-regexp|count|color|colour|files-without-match|files-with-matches|only-matching|quiet|silent|no-messages|byte-offset|with-filename|no-filename|line-number|initial-tab|null|text|binary-files|directories|devices|recursive|dereference-recursive|extended-regexp|fixed-strings|basic-regexp|perl-regexp|null-data|line-buffered? --include|exclude|exclude-dir|context|after-context|before-context|max-count|label# --regexp+ --exclude-from< --file& # <"
	case "rg":
		return "-.abchHiIlLnNopPqsSuUvVwxz0123456789F -ABCmMgtTEjrd# -e+ -f& --ignore-case|smart-case|case-sensitive|fixed-strings|word-regexp|line-regexp|count|count-matches|files|files-with-matches|files-without-match|line-number|no-line-number|heading|no-heading|hidden|no-ignore|no-ignore-vcs|no-ignore-parent|no-messages|only-matching|quiet|pcre2|multiline|multiline-dotall|null|null-data|invert-match|json|vimgrep|column|trim|text|unrestricted|follow|sort|sortr|stats|passthru|pretty|no-filename|with-filename|max-columns-preview|type-list|debug|color|colors|crlf|no-config? --glob|iglob|type|type-not|after-context|before-context|context|max-count|max-depth|max-filesize|max-columns|replace|encoding|threads|type-add|type-clear|engine|path-separator# --regexp+ --file& --ignore-file< --pre|hostname-bin^ --search-zip # <"
	case "ag", "ack":
		return "-acfFgGhHilLnoQrRsStuUvwz0123456789 -ABCm# --ignore-case|smart-case|literal|word-regexp|count|hidden|nogroup|group|nocolor|color|noheading|heading|nobreak|column|files-with-matches|all-types|unrestricted|go|python|js|java|rust|cpp|cc|html|css|ruby|php|perl|json|yaml --ignore|ignore-dir|depth|after|before|context? --pager^ # <"
	case "sort":
		return "-bdfgiMhnrRVcCmsuz -kt# -o> --ignore-leading-blanks|dictionary-order|ignore-case|general-numeric-sort|month-sort|human-numeric-sort|numeric-sort|random-sort|reverse|sort|version-sort|check|merge|stable|unique|zero-terminated|debug? --key|field-separator|buffer-size|parallel|batch-size# -S# --output> -T> --temporary-directory> --compress-program^ --files0-from% --random-source< <"
	case "uniq":
		return "-cdDiuz -fsw# --count|repeated|all-repeated|group|ignore-case|unique|zero-terminated? --skip-fields|skip-chars|check-chars# < >"
	case "cut":
		return "-nsz -bcdfF# --complement|only-delimited|zero-terminated --bytes|characters|delimiter|fields|output-delimiter# <"
	case "paste", "join", "comm", "fold", "fmt", "expand", "unexpand", "column", "colrm", "rev", "look", "pr":
		return "-123abcdefhijlmnorstuvwxzJLRHNpS? -adeotwlkcs# --check-order|nocheck-order|header|zero-terminated|serial|spaces|bytes|tabs|initial|first-only|table|json|separator|output-separator|delimiters|width|total|ignore-case? <"
	case "tr":
		return "-cCdst --complement|delete|squeeze-repeats|truncate-set1 #"
	case "diff", "cmp", "diff3", "sdiff", "colordiff":
		return "-0123456789abBcdeEfgGhHiklLmnNprqstTuvwyZ -UCWFIxXLSnDi# --brief|report-identical-files|side-by-side|suppress-common-lines|recursive|new-file|unidirectional-new-file|ignore-case|ignore-blank-lines|ignore-space-change|ignore-all-space|ignore-trailing-space|ignore-tab-expansion|text|minimal|speed-large-files|color|unified|context|ed|normal|rcs|left-column|expand-tabs|initial-tab|strip-trailing-cr|show-c-function|no-dereference|verbose|silent|quiet|print-bytes|bytes|ignore-initial|label|width|exclude|palette? --output> --diff-program^ <"
	case "jq", "gojq", "jaq":
		return "-cCMRSarsnejg0 -f& -L< --compact-output|color-output|monochrome-output|raw-output|raw-output0|join-output|raw-input|sort-keys|slurp|null-input|exit-status|tab|ascii-output|stream|seq|unbuffered --indent|args|jsonargs|arg|argjson# --from-file& --slurpfile|rawfile< # <"
	case "xxd":
		return "-abCdeEipruv -clsgonR# < >"
	case "hexdump", "hd", "od", "strings":
		return "-abcCdeEfinorsuvxpqdtADjNSwlgU? -clsgonjNtAwS# --all|bytes|radix|print-file-name|format|skip-bytes|read-bytes|traditional|width|output-duplicates? <"
	case "less", "more", "most", "bat", "batcat", "pygmentize":
		if name == "pygmentize" { // filters and lexers may be code, formatters write
			return "-gsv -flFN# -OPx% -o> <"
		}
		return "-AbeEFfgGiIJKLmMNnpPqQrRsSuUwWXz? --pager^ --plain|style|language|paging|color|number|line-range|decorations|theme|map-syntax|wrap|terminal-width? -p# -l# -r# <"
	case "file":
		return "-bcEhikLlNnprsSz0v? -f& -FPe# -m< -C% --brief|mime|mime-type|mime-encoding|dereference|no-dereference|keep-going|raw|extension --files-from& <"
	case "iconv":
		return "-csl -ft# --from-code|to-code# --list|silent -o> --output> <"
	case "seq":
		return "-w.0123456789 -fs# --equal-width --format|separator# #"
	case "clear", "yes", "expr", "basename", "dirname", "factor", "numfmt", "cal", "ncal", "bc", "dc", "logname", "tput":
		if name == "dc" { // "!" runs a command
			return "=medium:" + RiskCode + " <"
		}
		if name == "bc" {
			return "-lqswihV -e# --mathlib|quiet|standard|warn|expression? <"
		}
		return "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:+.? --multiple|suffix|zero|from|to|field|format|header|padding|round|suffix|invalid|grouping|delimiter|debug? #"
	case "tsort", "shuf", "cloc", "scc", "tokei", "sloccount", "ctags-list", "csvlook", "csvcut", "xmllint", "yq", "xq", "tomlq", "dasel", "miller", "mlr":
		switch name {
		case "shuf":
			return "-erz -in# --echo|repeat|zero-terminated --input-range|head-count# -o> --output> --random-source< <"
		case "xmllint":
			return "--noout|format|recover|nonet|html|huge|xpath? --output> -o> <"
		case "yq":
			return "-rcCMNPenjv0 -opI# -i! -s% --inplace! --output-format|input-format|prettyPrint|colors|no-colors|unwrapScalar|null-input|exit-status|indent? # <"
		case "mlr", "miller", "dasel", "tomlq", "xq":
			return "=medium:" + RiskUnknown + " --prepipe|prepipex^ <"
		}
		return "-qvhfn --extract-with^ --by-file|json|yaml|csv|exclude-dir|include-lang|files|sort|format|not-match-d|vcs? <"
	case "dot", "qrencode", "figlet", "cowsay", "fortune":
		return "=medium:" + RiskUnknown + " <"
	}
	return ""
}

// filePrograms look at files, make, change and delete them.
func filePrograms(name string) spec {
	switch name {
	case "ls", "dir", "vdir", "exa", "eza", "lsd":
		return "-aAbBcCdDfFgGhHiIklLmnNopqQrRsStTuUvwxXyZ1@eOP0? --all|almost-all|author|escape|block-size|ignore-backups|color|directory|dired|classify|format|full-time|group|group-directories-first|no-group|human-readable|si|dereference|dereference-command-line|hide|hyperlink|indicator-style|inode|ignore|kibibytes|literal|numeric-uid-gid|quote-name|quoting-style|reverse|recursive|size|sort|time|time-style|tabsize|width|context|zero|long|tree|level|git|icons|header|no-permissions? ."
	case "tree":
		return "-adfghilnpqrstuvxACDFJNQSUX -LPIH# --dirsfirst|du|prune|noreport|gitignore|filesfirst|inodes|device|charset|filelimit|sort|timefmt|matchdirs|ignore-case|metafirst|si|nolinks? --fromfile|info|infofile|gitfile% -oR> ."
	case "fd", "fdfind":
		return "-HIuslapFLg10q -dtSEecj# -xX^ --hidden|no-ignore|no-ignore-vcs|absolute-path|list-details|follow|full-path|print0|case-sensitive|ignore-case|glob|fixed-strings|unrestricted|strip-cwd-prefix|color? --max-depth|min-depth|exact-depth|type|extension|exclude|size|changed-within|changed-before|owner|max-results# --base-directory|search-path. --exec|exec-batch^ # ."
	case "stat", "du", "df", "readlink", "realpath", "pathchk", "getfacl", "lsattr", "namei", "findmnt", "mountpoint":
		return "-abcdefghijklmnopqstuvwxzDHLPSTX0123456789? -BdtIEc# --dereference|file-system|format|printf|terse|cached|all|apparent-size|block-size|bytes|total|human-readable|si|max-depth|summarize|separate-dirs|exclude|one-file-system|time|time-style|threshold|inodes|local|portability|output|type|print-type|sync|no-sync|exclude-type|canonicalize|canonicalize-existing|canonicalize-missing|no-newline|quiet|silent|verbose|zero|logical|physical|relative-to|relative-base|strip|no-symlinks|count-links|null|dereference-args? -X< --exclude-from< ."
	case "pwd", "tty":
		return "-LPs --logical|physical|silent #"
	case "sleep", "usleep":
		return "#"
	case "touch":
		return "-acfhm -dt# -r. --no-create|no-dereference --date|time# --reference. >"
	case "mkdir":
		return "-pv -m# -Z --parents|verbose|context --mode# >"
	case "mktemp":
		return "-dqtu -p> --directory|quiet|dry-run --suffix# --tmpdir? =medium:" + RiskChanges + " >"
	case "rmdir":
		return "-pv --parents|verbose|ignore-fail-on-non-empty x"
	case "unlink":
		return "x"
	case "cp", "gcp":
		return "-abdfiHlLnPpRrsTuvxZ -S# --archive|attributes-only|backup|copy-contents|force|interactive|link|dereference|no-dereference|no-clobber|preserve|no-preserve|parents|recursive|reflink|remove-destination|sparse|strip-trailing-slashes|symbolic-link|suffix|no-target-directory|update|verbose|one-file-system? -t> --target-directory> >>"
	case "install":
		return "-bcCdDpsTvZ -gmoS# --backup|compare|preserve-timestamps|strip|verbose --group|mode|owner|suffix# -t> --target-directory> --strip-program^ >>"
	case "mv":
		return "-bfiunTvZ -S# --backup|force|interactive|no-clobber|strip-trailing-slashes|no-target-directory|update|verbose? -t> --target-directory> --suffix# >x"
	case "ln":
		return "-bdfFiLnPrsTv -S# --backup|force|interactive|logical|no-dereference|physical|relative|symbolic|no-target-directory|verbose? -t> --target-directory> --suffix# >>"
	case "chmod":
		return "-cfvRrwxXst --changes|silent|quiet|verbose|recursive|preserve-root|no-preserve-root --reference. # >"
	case "tee":
		return "-aip --append|ignore-interrupts|output-error? >"
	case "truncate":
		return "-co -sr# --no-create|io-blocks --size|reference# >"
	case "split", "csplit":
		return "-deuxkszq -abClnbft# --numeric-suffixes|hex-suffixes|elide-empty-files|additional-suffix|lines|bytes|number|line-bytes|suffix-length? --filter$ =medium:" + RiskChanges + " < >"
	case "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress", "uncompress", "lzma", "brotli":
		return "-0123456789cdfhklLnNqrtTvz? --stdout|to-stdout|decompress|force|keep|list|quiet|recursive|test|verbose|fast|best|rm? -o> -S# >"
	case "patch":
		return "-bcefElnNRstuvZ -pdFgBDVYzi# --strip|forward|reverse|dry-run|batch|force|silent|verbose|input? -o> --output> =medium:" + RiskChanges + " > <"
	case "dos2unix", "unix2dos", "mac2unix":
		return "-kqn =medium:" + RiskChanges + " >"
	case "zip":
		return "-0123456789rjqvuFdmeTXy@ -xin# -b> --recurse-paths|quiet|exclude? > <"
	case "unzip", "unrar":
		return "-lvtZqonjCLaU -dxP# -p =medium:" + RiskChanges + " < #"
	case "setfacl", "chattr", "xattr":
		return "-RmxbdksnP# =medium:" + RiskChanges + " # >"
	}
	return ""
}

// machinePrograms tell of the machine.
func machinePrograms(name string) spec {
	switch name {
	case "date":
		return "-uRI? -d# -f< -r. --date|utc|rfc-3339|rfc-email|iso-8601|universal|debug? --file< --reference. -s^ --set^ #"
	case "uname", "nproc", "whoami", "id", "groups", "uptime", "free", "hostname", "lscpu", "lsb_release", "getconf", "locale", "users", "w", "who", "vmstat", "lsmem", "sw_vers", "last":
		if name == "hostname" {
			return "-sfiIdAy --short|fqdn|ip-address|domain ^ =low"
		}
		return "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789? --all|ignore|help|human|kilo|mega|giga|si|lohi|total|wide|pretty|json|extended|parse|kernel-name|kernel-release|machine|operating-system|nodename|processor|user|group|groups|name|real|zero|short|description|id|release|codename|all-locales|charmaps? #"
	case "which", "whereis", "type", "whatis", "apropos", "man", "info", "tldr":
		if name == "man" || name == "info" || name == "tldr" {
			return "-fkwaW -PH^ --pager|html^ --where|path|all =medium:" + RiskUnknown + " #"
		}
		return "-abmsgflu? --all|skip-alias|tty-only #"
	case "ps", "pgrep", "pidof", "pstree", "lsof", "jobs", "top", "htop":
		if name == "top" || name == "htop" {
			return "-bcHi -npudoEe# #"
		}
		return "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:+? --sort|forest|no-headers|headers|format|pid|ppid|user|cols|full|list-name|list-full|newest|oldest|exact|count|parent? #"
	case "ss", "netstat", "lsblk", "lsusb", "lspci", "lsmod":
		if name == "ss" {
			return "-abeghilmnoprstuwxzEHMOQSTZ0246 -f# -A# -F< -KD% --listening|numeric|resolve|tcp|udp|unix|processes|all|extended|memory|info|summary|no-header|oneline? #"
		}
		return "-abcdefghijlmnopqrstuvwxyzABCEFGHILMNOPQRSTUVWXYZ0123456789? --listening|numeric|tcp|udp|processes|all|fs|json|output|bytes|paths? #"
	case "printenv":
		return "-0 --null #"
	case "ping", "traceroute", "tracepath", "mtr", "dig", "host", "nslookup", "drill", "whois", "resolvectl", "getent":
		return "=medium:" + RiskNetwork + " -46abcdfhiIklLmnopqQrRstTvVwWxy? #"
	case "ldd": // runs the program's own loader
		return "-druv --verbose|data-relocs|function-relocs|unused =medium:" + RiskProject + " <"
	case "nm", "size", "readelf", "addr2line", "c++filt":
		return "-aABCDefFghiIlLnoprsStuvVWxX? --demangle|dynamic|extern-only|file-header|headers|symbols|sections|segments|wide|all|print-size|defined-only|undefined-only|exe|functions|inlines? --plugin^ -e< <"
	case "objdump":
		return "-aCdDfghilpPrRsStTwxzGW? -jbmMEHe# --disassemble|disassemble-all|syms|section|source|demangle|headers|no-show-raw-insn? --plugin^ <"
	}
	return ""
}

// projectPrograms build, test, check and format the project: they run its code, or what it configures.
func projectPrograms(name string) spec {
	switch name {
	case "cargo", "rustc", "rustfmt", "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "ar", "ranlib", "strip", "cmake", "ctest", "cpack", "ninja", "meson", "bazel", "bazelisk", "buck", "buck2", "scons", "waf", "autoconf", "automake", "autoreconf",
		"mvn", "mvnw", "gradle", "gradlew", "ant", "sbt", "lein", "javac", "java", "jar", "kotlinc", "kotlin", "scalac", "dotnet", "msbuild", "swift", "swiftc", "xcodebuild", "zig", "stack", "cabal", "ghc", "runghc", "dune", "ocaml", "ocamlc", "opam", "mix", "rebar3", "nimble", "nim", "dub", "crystal", "v", "odin",
		"pytest", "py.test", "tox", "nox", "mypy", "pyright", "pylint", "flake8", "black", "ruff", "isort", "autopep8", "yapf", "bandit", "coverage", "hatch", "flit", "pre-commit", "pyinstaller", "jupyter", "sphinx-build", "mkdocs", "django-admin", "flask", "uvicorn", "gunicorn", "celery", "alembic",
		"tsc", "eslint", "prettier", "jest", "vitest", "mocha", "ava", "webpack", "vite", "rollup", "esbuild", "parcel", "turbo", "nx", "lerna", "next", "nuxt", "ng", "vue", "svelte-kit", "astro", "gatsby", "playwright", "cypress", "karma", "grunt", "gulp", "babel", "swc", "biome", "oxlint", "stylelint", "standard", "xo", "nodemon", "pm2", "serve", "http-server", "corepack",
		"rake", "rspec", "rubocop", "rails", "cucumber", "jekyll", "phpunit", "phpstan", "psalm", "artisan", "rector", "php-cs-fixer", "perltidy", "prove", "cpanm", "luacheck", "stylua", "shellcheck", "shfmt", "hadolint", "yamllint", "markdownlint", "markdownlint-cli2", "actionlint", "ansible-lint", "tflint", "buf", "protoc", "flatc", "thrift", "swagger", "openapi-generator", "sqlc", "sqlfluff", "goose", "migrate", "dbmate", "flyway", "liquibase", "prisma",
		"golangci-lint", "staticcheck", "gofumpt", "goimports", "gopls", "gotestsum", "govulncheck", "dlv", "mockgen", "stringer", "wire", "air", "goreleaser", "ko", "clang-format", "clang-tidy", "cppcheck", "ctags", "cscope", "doxygen", "pdflatex", "xelatex", "latexmk", "pandoc", "convert", "magick", "ffmpeg", "ffprobe", "inkscape", "rsvg-convert", "optipng", "just", "task", "mage", "earthly", "dagger", "tilt", "skaffold", "devbox", "direnv", "asdf", "mise", "nvm", "rbenv", "pyenv", "volta", "fnm", "hugo", "zola", "mdbook", "code", "cursor", "subl", "sqlite3":
		return "=medium:" + RiskProject
	}
	return ""
}

// strongPrograms act on the whole machine, destroy, publish, or open the way to anything.
func strongPrograms(name string) spec {
	switch name {
	case "mkfs", "mke2fs", "mkswap", "fdisk", "sfdisk", "gdisk", "parted", "wipefs", "blkdiscard", "hdparm", "badblocks", "cryptsetup", "lvremove", "vgremove", "pvremove", "mdadm", "zpool", "zfs", "btrfs", "swapoff", "swapon", "losetup", "umount", "fsck", "e2fsck", "tune2fs", "resize2fs", "debugfs",
		"shutdown", "reboot", "halt", "poweroff", "init", "telinit", "iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "insmod", "rmmod", "modprobe", "useradd", "userdel", "usermod", "groupadd", "groupdel", "passwd", "chpasswd", "chsh", "chfn", "visudo", "vipw", "adduser", "deluser", "setenforce", "setcap",
		"service", "rc-service", "update-rc.d", "chkconfig", "launchctl", "initctl", "sysctl-set", "loginctl", "timedatectl", "localectl", "ldconfig", "update-alternatives", "dpkg-reconfigure", "grub-install", "update-grub", "efibootmgr", "kexec", "mknod", "apt", "apt-get", "dpkg", "aptitude", "yum", "dnf", "rpm", "pacman", "zypper", "apk", "brew", "port", "snap", "flatpak", "nix-env", "emerge", "choco", "winget", "scoop", "killall", "pkill", "skill", "xkill", "domainname", "nisdomainname", "ypdomainname", "route", "arp", "ethtool", "tc", "nmcli", "iw", "iwconfig", "brctl", "bridge", "rfkill", "hwclock", "ntpdate", "chronyc", "setfont", "loadkeys", "chvt", "depmod", "coredumpctl", "machinectl", "busctl", "dbus-send", "gdbus", "qdbus", "xdotool", "ydotool", "wmctrl", "xset", "xrandr", "setxkbmap", "gsettings", "dconf", "defaults", "pmset", "scutil", "networksetup", "dscl", "csrutil", "diskutil", "hdiutil", "tmutil", "nvram", "systemsetup", "softwareupdate", "dmsetup", "blockdev", "sgdisk", "cfdisk", "partprobe", "fstrim", "pvcreate", "vgcreate", "lvcreate", "bootctl", "homectl", "logger", "wall", "write", "mesg", "eject":
		return "=high:" + RiskSystem
	case "shred", "srm", "wipe", "scrub":
		return "=high:" + RiskDestroys + " X"
	case "chown", "chgrp":
		return "-cfhvRHLP --recursive|verbose|changes|no-dereference|from|reference|preserve-root? =high:" + RiskPrivilege + " # >"
	case "mail", "mailx", "sendmail", "mutt", "msmtp", "swaks", "ftp", "lftp", "tftp", "ncftp", "aws", "gcloud", "az", "gsutil", "s3cmd", "rclone", "doctl", "heroku", "vercel", "netlify", "fly", "flyctl", "wrangler", "firebase", "surge", "twine", "kubectl", "helm", "terraform", "tofu", "pulumi", "ansible", "ansible-playbook", "vagrant", "packer", "serverless", "cdk", "sam", "ngrok", "cloudflared", "localtunnel", "lt", "psql", "mysql", "mongo", "mongosh", "redis-cli", "pg_dump", "pg_restore", "mysqldump", "dropdb", "createdb", "wg", "wg-quick", "tailscale", "ssh-copy-id", "ssh-add", "ssh-agent", "gist", "transfer", "wormhole", "croc", "magic-wormhole", "http", "https", "httpie", "xh", "aria2c", "axel", "youtube-dl", "yt-dlp", "lynx", "w3m", "links", "elinks", "telegram-cli", "slack", "ipfs":
		return "=high:" + RiskSends
	case "gpg", "gpg2", "pass", "op", "bw", "vault", "secret-tool", "security", "keyctl", "kinit", "klist", "age", "sops", "ssh-keygen", "openssl", "keytool", "certtool":
		return "=high:" + RiskSecret
	case "vim", "vi", "nvim", "view", "ex", "ed", "red", "emacs", "emacsclient", "nano", "pico", "joe", "micro", "hx", "kak", "gvim", "vimdiff", "rvim", "ranger", "mc", "nnn", "lf", "tig", "lazygit", "gitk", "fzf", "sk", "irssi", "weechat":
		return "=high:" + RiskUnseen
	case "ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "qemu-system-x86_64", "qemu-x86_64", "wine", "mono", "rundll32", "cmd", "cmd.exe", "powershell.exe", "wsl", "wscript", "cscript", "mshta", "regsvr32", "certutil", "bitsadmin", "run-parts", "logrotate", "zsoelim", "cpulimit", "ssh-keyscan", "tcpdump", "wireshark", "tshark", "nmap", "masscan", "hping3", "aireplay-ng", "bpftrace", "m4", "pexec", "ptx", "genisoimage", "slsh", "tcsh-exec", "dosbox", "xdg-open", "open", "start", "see", "dhclient", "dvips", "pry", "rlogin", "cowthink", "ginsh", "gimp", "jrunscript", "jjs", "lua-exec", "mtr-exec", "msgfilter", "loginctl-exec", "aoss", "ansible-test", "knife", "puppet", "chef", "salt", "salt-call":
		return "=high:" + RiskUnseen
	}
	return ""
}
