// Loaded into each program of demo mode, so that it ends when its starter is gone, even if that was killed.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The listener must not keep a finished program alive.
process.channel?.unref()
