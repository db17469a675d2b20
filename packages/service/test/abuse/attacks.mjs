import { attack as farPages } from './far-pages.mjs';
import { attack as largeBodies } from './large-bodies.mjs';
import { attack as longLists } from './long-lists.mjs';
import { attack as overTheRate } from './over-the-rate.mjs';
import { attack as paddingOracle } from './padding-oracle.mjs';
import { attack as replays } from './replays.mjs';
import { attack as silentReaders } from './silent-readers.mjs';
import { attack as storedLinks } from './stored-links.mjs';
import { attack as strangers } from './strangers.mjs';

export const ATTACKS = [
  longLists,
  silentReaders,
  largeBodies,
  replays,
  farPages,
  overTheRate,
  storedLinks,
  paddingOracle,
  // Last, since what they may get shut is the door that all of them come through.
  strangers,
];
