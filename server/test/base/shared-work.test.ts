import { describe, expect, it, vi } from 'vitest';
import { currentCaller, runForCaller } from '../../src/base/limits/current-caller.js';
import { callerOf } from '../support/caller.js';
import { SharedWork } from '../../src/base/shared-work.js';
import { deferred } from '../api/support/deferred.js';

/** Work that returns its number when it is told to, having read a value at its beginning. */
class Counted {
  readonly shared = new SharedWork<string>();
  readonly began: number[] = [];
  value = 'first';
  #number = 0;
  #end = deferred<null>();

  get(key = 'k'): Promise<string> {
    return this.shared.get(key, async (begins) => {
      begins();
      this.#number += 1;
      this.began.push(this.#number);
      const read = this.value;
      await this.#end.promise;
      return read;
    });
  }

  end(): void {
    this.#end.resolve(null);
    this.#end = deferred();
  }
}

function as<Result>(gone: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    runForCaller(callerOf('a', gone), () => void work().then(resolve, reject));
  });
}

const settled = () => new Promise(setImmediate);

describe('SharedWork', () => {
  it('is done once for all who call before it begins', async () => {
    const counted = new Counted();
    const results = Array.from({ length: 1000 }, () => counted.get());
    await settled();
    counted.end();
    expect(new Set(await Promise.all(results))).toEqual(new Set(['first']));
    expect(counted.began).toEqual([1]);
  });

  it('shows later callers every change before their call', async () => {
    const counted = new Counted();
    const early = counted.get();
    await settled();
    counted.value = 'second';
    const late = [counted.get(), counted.get()];
    await settled();
    expect(counted.began).toEqual([1]);
    counted.end();
    expect(await early).toBe('first');
    await vi.waitFor(() => expect(counted.began).toEqual([1, 2]));
    counted.end();
    expect(await Promise.all(late)).toEqual(['second', 'second']);
  });

  it('is done for each key', async () => {
    const counted = new Counted();
    const results = [counted.get('a'), counted.get('b')];
    await settled();
    expect(counted.began).toEqual([1, 2]);
    counted.end();
    await Promise.all(results);
  });

  it('does not begin if all callers have gone, and begins if one remains', async () => {
    const counted = new Counted();
    const gone = new AbortController();
    const first = counted.get();
    await settled();
    const abandoned = [0, 1].map(() =>
      expect(as(gone.signal, () => counted.get())).rejects.toThrow('no caller is waiting'),
    );
    gone.abort();
    counted.end();
    await first;
    await Promise.all(abandoned);
    expect(counted.began).toEqual([1]);
    const wanted = [as(gone.signal, () => counted.get()), counted.get()];
    await settled();
    counted.end();
    await Promise.all(wanted);
    expect(counted.began).toEqual([1, 2]);
  });

  it('is the work of the server, and fails for all who share it', async () => {
    const shared = new SharedWork<string>();
    const callers: unknown[] = [];
    const fail = (begins: () => void) => {
      begins();
      callers.push(currentCaller());
      return Promise.reject(new Error('broken'));
    };
    const { signal } = new AbortController();
    const asked = [as(signal, () => shared.get('k', fail)), shared.get('k', fail)];
    for (const each of asked) await expect(each).rejects.toThrow('broken');
    expect(callers).toEqual([null]);
    await expect(shared.get('k', () => Promise.resolve('again'))).resolves.toBe('again');
  });

  it('lets the event loop turn between the callers that continue', async () => {
    const shared = new SharedWork<string>();
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      if (turns < 1000) setImmediate(turn);
    };
    setImmediate(turn);
    const seen = Array.from({ length: 100 }, async () => {
      await shared.get('k', async (begins) => {
        begins();
        return 'done';
      });
      return turns;
    });
    expect(new Set(await Promise.all(seen)).size).toBeGreaterThan(50);
  });
});
