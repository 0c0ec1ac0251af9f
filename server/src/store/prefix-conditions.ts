/** The condition that a text begins with one of several prefixes, as databases can compare it: as ranges. */
import { afterPrefix, type TermRange } from './index-terms.js';

/** @param prefixes without lone surrogates and U+0000 */
export function prefixRanges(prefixes: readonly string[]): readonly TermRange[] {
  return prefixes.map((prefix) => ({
    from: prefix,
    // Nothing but the highest character has no successor.
    to: afterPrefix(prefix) ?? `${prefix}\u{10ffff}`,
  }));
}
