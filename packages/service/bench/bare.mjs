// The reference: fastify with a route per path that reads the body as bytes, like the service, and replies with the
// service's own response. A separate process that ends with its parent.
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
