/** Replies are assembled from chunks of any size, and invalid ones are rejected. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeRequestHeader,
  encodeReply,
  encodeRequestHeader,
  MalformedReply,
  OUTCOMES,
  ReplyReader,
  type ReplyFrame,
} from '../../../src/scripts/pyodide/frames.js';

const uint32 = fc.nat(2 ** 32 - 1);
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
const replies: fc.Arbitrary<ReplyFrame> = fc.record({
  outcome: fc.constantFrom(...OUTCOMES),
  progress: uint32,
  deniedCalls: uint32,
  heapBytes: uint32,
  output: bytes,
  result: bytes,
});

describe('ReplyReader', () => {
  it('reads replies however they are split', () => {
    fc.assert(
      fc.property(
        fc.array(replies, { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 60 })),
        (sent, sizes) => {
          const reader = new ReplyReader(1000);
          for (const reply of sent) {
            const frame = encodeReply(reply);
            let received: ReplyFrame | null = null;
            for (let from = 0; from < frame.length;) {
              expect(received).toBeNull();
              const size = sizes.next().value as number;
              received = reader.push(frame.subarray(from, from + size));
              from += size;
            }
            expect(received).toEqual(reply);
          }
        },
      ),
    );
  });

  it('rejects a length over its limit before the body has arrived', () => {
    const header = encodeReply({ ...emptyReply, result: Buffer.alloc(101) }).subarray(0, 24);
    expect(() => new ReplyReader(100).push(header)).toThrow(MalformedReply);
  });

  it('rejects lengths whose sum would overflow', () => {
    const header = Buffer.alloc(24, 0xff);
    expect(() => new ReplyReader(100).push(header)).toThrow(MalformedReply);
  });

  it('rejects an unknown outcome, and a second reply', () => {
    const strange = encodeReply(emptyReply);
    strange.writeUInt32LE(OUTCOMES.length, 0);
    expect(() => new ReplyReader(100).push(strange)).toThrow(MalformedReply);
    const twice = Buffer.concat([encodeReply(emptyReply), encodeReply(emptyReply)]);
    expect(() => new ReplyReader(100).push(twice)).toThrow(MalformedReply);
  });
});

const emptyReply: ReplyFrame = {
  outcome: 'answered',
  progress: 0,
  deniedCalls: 0,
  heapBytes: 0,
  output: Buffer.alloc(0),
  result: Buffer.alloc(0),
};

describe('a request header', () => {
  it('contains the time and the random numbers of a call that can be repeated', () => {
    const moment = { time: 1_800_000_000_000.5, seed: 2 ** 32 - 1 };
    const nothing = Buffer.alloc(0);
    const frame = { request: nothing, variables: nothing, timeoutMs: 1, pure: false, moment };
    expect(decodeRequestHeader(encodeRequestHeader(frame)).moment).toEqual(moment);
  });

  it('contains lengths, limit and purity', () => {
    const frame = {
      request: Buffer.alloc(3),
      variables: Buffer.alloc(70_000),
      timeoutMs: 5000,
      pure: true,
    };
    expect(decodeRequestHeader(encodeRequestHeader(frame))).toEqual({
      requestBytes: 3,
      variablesBytes: 70_000,
      timeoutMs: 5000,
      pure: true,
    });
  });
});
