// Loaded into a node of the service before its program (node --import). Connections that the node opens to the
// receiver's public address go to this machine instead. Everything else is the program that users run, with all its
// checks: it sends events over HTTPS to a public address and verifies the certificate.
import net from 'node:net';

const { PROVE_RECEIVER_ADDRESS: address, PROVE_RECEIVER_PORT: port } = process.env;
const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function connectByRoute(options, ...rest) {
  const isReceiver = address !== undefined && options?.host === address;
  return connect.call(this, isReceiver ? { ...options, host: '127.0.0.1', port: Number(port) } : options, ...rest);
};
