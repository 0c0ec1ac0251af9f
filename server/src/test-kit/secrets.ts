/** The secrets of a test: those that it gives, and stand-ins for all others, so that definitions need no preparation. */
import { SecretMask } from '../secrets/secret-mask.js';
import { isSecretName, type SecretSource } from '../secrets/secret-source.js';

/** @param given by name; null: the server does not have it */
export function testSecrets(given: Readonly<Record<string, string | null>>): SecretSource {
  const known = new Map(Object.entries(given));
  const mask = new SecretMask();
  return {
    names: () => [...known.keys()].filter((name) => known.get(name) !== null).sort(),
    value(name) {
      if (!isSecretName(name)) return null;
      const value = known.has(name) ? (known.get(name) ?? null) : `test value of ${name}`;
      if (value !== null) mask.add(name, value);
      return value;
    },
    mask,
  };
}
