/** The value of a setting is invalid. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError' as const;
}
