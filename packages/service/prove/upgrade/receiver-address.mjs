// Loaded into a node before its program: `node --import receiver-address.mjs main.js`. A node pushes events only to
// public addresses, so the proof's receiver has an address that is reserved for documentation (RFC 5737). With this
// module, connections to that address go to this machine instead.
import net from 'node:net';

const PUBLIC = '192.0.2.1';
const { connect } = net.Socket.prototype;

net.Socket.prototype.connect = function connectHere(...args) {
  // net.connect passes its arguments as one array, tls.connect separately.
  const [options, listener] = Array.isArray(args[0]) ? args[0] : args;
  if (options?.host !== PUBLIC) return connect.apply(this, args);
  // Changes a copy, because TLS compares the certificate with the host of the original options.
  return connect.call(this, { ...options, host: '127.0.0.1' }, listener);
};
