import fc from 'fast-check';

/** What was drawn by a run that failed is drawn again: FAST_CHECK_SEED is the seed that it printed. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['FAST_CHECK_SEED']) });
