package builtin

import "overt/internal/policy"

// does names what is done to the path, also by the name of a secret that it is a hard link to.
func (c *core) does(name string, kind policy.EffectKind, t target) policy.Action {
	a := t.action(name, kind)
	if secret := c.tree.Linked(t.real, policy.Secret); secret != "" {
		a.Effects = append(a.Effects, policy.Effect{Kind: kind, Target: secret})
	}
	return a
}
