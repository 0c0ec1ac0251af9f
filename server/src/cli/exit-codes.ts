/** How every command ends. `migrate-store` has its own; see docs/migrate-store.md. */
export const EXIT_CODES = {
  done: 0,
  failed: 1,
  misused: 2,
  unreachable: 3,
  denied: 4,
  notFound: 5,
  runFailed: 10,
  runTerminated: 11,
  runCompensated: 12,
  runSuspended: 13,
  runOpen: 14,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

export const EXIT_CODE_MEANINGS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  done: 'done; with --wait or --follow: the run has succeeded, or the bulk job has done everything',
  failed: 'failed, or problems were found',
  misused: 'the arguments or a setting are wrong',
  unreachable: 'the server cannot be reached, or cannot answer now',
  denied: 'the server rejects the token, or the token lacks a scope',
  notFound: 'there is no such run, definition, event, bulk job or notification',
  runFailed: 'with --wait or --follow: the run has failed',
  runTerminated: 'with --wait or --follow: the run was terminated',
  runCompensated: 'with --wait or --follow: the run was compensated',
  runSuspended: 'with --wait or --follow: the run is suspended',
  runOpen: 'with --wait or --follow: the run or bulk job is still open after --timeout',
};
