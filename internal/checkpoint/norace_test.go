//go:build unix && !race

package checkpoint_test

// roundTrips is how often [TestCommandsAreUndone] changes the tree.
const roundTrips = 8
