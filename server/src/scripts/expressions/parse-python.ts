/** Python's grammar, as the server sees it. */
import { parser } from '@lezer/python';

/**
 * Stops at the first error. The parser would go on otherwise and guess what was meant, which takes a second for a few
 * kilobytes of well-chosen nonsense.
 */
const strictParser = parser.configure({ strict: true });

export type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** @returns null for what is not Python to this grammar; it may still be to CPython */
export function parsePython(text: string): SyntaxNode | null {
  try {
    return strictParser.parse(text).topNode;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** A few microseconds each. */
const STEPS_AT_ONCE = 256;

/** Parses a long text in parts: null after each of them, then the whole. Ends early where the text is not Python. */
export function* readPython(text: string): Generator<SyntaxNode | null> {
  const parse = strictParser.startParse(text);
  try {
    for (let steps = 1; ; steps += 1) {
      const tree = parse.advance();
      if (tree !== null) {
        yield tree.topNode;
        return;
      }
      if (steps % STEPS_AT_ONCE === 0) yield null;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
}
