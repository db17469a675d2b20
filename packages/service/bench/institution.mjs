// The reference institution in a separate process, which ends with its parent.
import { startInstitution } from '@perennial/reference-peers';

process.once('message', async ({ dataDir, key }) => {
  const clock = { now: Date.now };
  const institution = await startInstitution({ dataDir, port: 0, key: Buffer.from(key, 'base64'), clock });
  const stop = () => institution.stop().then(() => process.exit());
  process.once('disconnect', stop);
  process.once('SIGTERM', stop);
  process.send(institution.url);
});
