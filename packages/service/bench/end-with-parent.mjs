// Loaded before the service. When the bench ends, even by kill -9, the pipe closes and the service stops gracefully.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
process.stdin.unref();
// Its last output then has no reader. That must not end it before its database has stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
