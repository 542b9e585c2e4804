package builtin

import "overt/internal/policy"

// reading names what reading the path does, also by the name of a secret that it is a hard link to.
func (c *core) reading(name string, t target) policy.Action {
	a := t.action(name, policy.Read)
	if secret := c.tree.Linked(t.real, policy.Secret); secret != "" {
		a.Effects = append(a.Effects, policy.Effect{Kind: policy.Read, Target: secret})
	}
	return a
}
