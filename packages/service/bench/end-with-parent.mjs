// Loaded before the service. When the bench ends, even by kill -9, the pipe closes and the service stops gracefully.
process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume();
process.stdin.unref();
// When the bench has ended, nobody reads the service's last output. A write error must not end the service before its
// database has stopped.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
