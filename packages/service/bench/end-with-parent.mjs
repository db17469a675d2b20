// Loaded before the service: when the bench is gone, even by kill -9, the pipe closes and the service stops in order.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
process.stdin.unref();
// Its last words then have no reader, and that must not end it before its database is stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
