import fc from 'fast-check';

/** Repeats the random input of a failed run: FAST_CHECK_SEED is the seed it printed. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['FAST_CHECK_SEED']) });
