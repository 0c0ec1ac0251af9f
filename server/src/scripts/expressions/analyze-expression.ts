/** Everything that the server can derive from the source of an expression, cached by exact source. */
import { LRUCache } from 'lru-cache';
import { classifyExpression, type Classification } from './classify-expression.js';
import type { PlainExpression } from './plain-expression.js';
import { prepareExpression, type PreparedExpression } from './prepare-expression.js';
import { readPlainExpression } from './read-plain-expression.js';

export interface AnalyzedExpression {
  readonly prepared: PreparedExpression;
  /** Set if the expression can be evaluated without Python, depending on its values. */
  readonly plain: PlainExpression | null;
  readonly classification: Classification;
}

const MAX_ENTRIES = 10_000;
const MAX_TOTAL_LENGTH = 8 * (1 << 20);

export class ExpressionAnalyzer {
  readonly #known = new LRUCache<string, AnalyzedExpression>({
    max: MAX_ENTRIES,
    maxSize: MAX_TOTAL_LENGTH,
    sizeCalculation: (_analyzed, source) => source.length + 1,
  });

  knows(source: string): boolean {
    return this.#known.has(source);
  }

  analyze(source: string): AnalyzedExpression {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const prepared = prepareExpression(source);
    const analyzed = {
      prepared,
      plain: readPlainExpression(prepared.text),
      classification: classifyExpression(prepared.text),
    };
    this.#known.set(source, analyzed);
    return analyzed;
  }

  /** An interpreter found something that this parser had missed: from now on, the expression is treated as impure. */
  distrust(source: string): void {
    const known = this.#known.get(source);
    if (known !== undefined) this.#known.set(source, { ...known, classification: { pure: false } });
  }
}
