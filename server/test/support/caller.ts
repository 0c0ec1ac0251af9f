/** A caller outside HTTP. By default, with as much memory as it wants. */
import { AnswerMemory } from '../../src/base/limits/answer-memory.js';
import type { Caller } from '../../src/base/limits/current-caller.js';
import { HeldMemory } from '../../src/base/limits/held-memory.js';

export function callerOf(
  key: string,
  gone: AbortSignal,
  account = new AnswerMemory({ bytesMax: 2 ** 30, refused: () => undefined }),
): Caller {
  return { key, address: key, gone, memory: new HeldMemory(account, { key, gone }) };
}
