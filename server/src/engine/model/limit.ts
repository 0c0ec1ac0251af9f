/** The bounds of limits, which steps of any definition share. */

/** Maximum number of limits that one step names. */
export const STEP_LIMITS_MAX = 10;
/** Maximum number of units that one step needs of a limit: no limit has more. */
export const LIMIT_UNITS_MAX = 1_000_000;
