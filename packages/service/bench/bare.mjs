// The reference that the service is compared with: fastify with a route per path. Like the service, it reads the body
// as bytes; it replies with a recorded response of the service. A separate process that ends with its parent.
import fastify from 'fastify';

process.once('disconnect', () => process.exit());

process.once('message', async (answers) => {
  const app = fastify({ logger: false, keepAliveTimeout: 75_000 });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const [url, { method, status, headers, text }] of Object.entries(answers)) {
    app.route({ method, url, handler: (_request, reply) => reply.code(status).headers(headers).send(text) });
  }
  process.send(await app.listen({ host: '127.0.0.1', port: 0 }));
});
