// Loaded into each program of demo mode: when the starter is gone, however it died, the program ends.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
// The listener alone would keep a program alive that has nothing left to do.
process.channel?.unref()
