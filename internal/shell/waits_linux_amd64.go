package shell

// System calls that wait, by number; those that this machine has not are negative.
const (
	sysRead         = 0
	sysPoll         = 7
	sysSelect       = 23
	sysPause        = 34
	sysWait4        = 61
	sysSigtimedwait = 128
	sysSigsuspend   = 130
	sysFutex        = 202
	sysEpollWait    = 232
	sysWaitid       = 247
	sysPselect      = 270
	sysPpoll        = 271
	sysEpollPwait   = 281
	sysEpollPwait2  = 441
)
