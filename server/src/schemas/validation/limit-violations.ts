/**
 * Stops validation when there are too many violations.
 *
 * The compiled code keeps all violations, also those of alternatives, in lists that it copies. If such a list needs more
 * memory than the thread may have, the platform ends the whole process, not only the thread.
 */

/** Violations at a time; those of alternatives are dropped when another alternative fits. */
const VIOLATIONS_MAX = 100_000;

/** The text that the compiled code throws: it knows no names of this module. */
const MESSAGE = 'there are more than 100,000 violations';

const CHECK = `if(errors>${VIOLATIONS_MAX})throw new Error("${MESSAGE}");`;

/** Strings are skipped: they may contain anything. */
const STRINGS_AND_COUNTS = /"[^"\\]*(?:\\.[^"\\]*)*"?|\berrors\+\+;|\berrors = vErrors\.length;/g;

/** Adds a check to the compiled code, wherever it counts violations. */
export function limitViolations(code: string): string {
  return code.replace(STRINGS_AND_COUNTS, (found) =>
    found.startsWith('"') ? found : found + CHECK,
  );
}
