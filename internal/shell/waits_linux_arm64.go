package shell

// System calls that wait, by number; those that this machine has not are negative.
const (
	sysRead         = 63
	sysPoll         = -1
	sysSelect       = -2
	sysPause        = -3
	sysWait4        = 260
	sysSigtimedwait = 137
	sysSigsuspend   = 133
	sysFutex        = 98
	sysEpollWait    = -4
	sysWaitid       = 95
	sysPselect      = 72
	sysPpoll        = 73
	sysEpollPwait   = 22
	sysEpollPwait2  = 441
)
