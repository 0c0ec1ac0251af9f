import type { Fleet } from './fleet.js';

const MEGABYTE = 1024 * 1024;

/** The memory usage of each running node, according to its own metrics. */
export async function megabytesOf({ urls }: Fleet): Promise<number[]> {
  return Promise.all(
    urls.map(async (url) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const bytes = Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
      return Math.round(bytes / MEGABYTE);
    }),
  );
}
