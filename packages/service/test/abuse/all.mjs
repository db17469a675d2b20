// node packages/service/test/abuse/all.mjs: every attack, each on a service of its own, and one table of what came of them.
import { ATTACKS } from './attacks.mjs';
import { main } from './run.mjs';

await main(ATTACKS);
