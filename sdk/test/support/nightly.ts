/** Whether every combination is tested, as by night (`pnpm test:nightly`), or those that find most. */
export const IS_NIGHTLY = process.env['NIGHTLY'] === 'all';
