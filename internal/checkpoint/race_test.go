//go:build unix && race

package checkpoint_test

// roundTrips is how often [TestCommandsAreUndone] changes the tree: a race shows in a few.
const roundTrips = 3
