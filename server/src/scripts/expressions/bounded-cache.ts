/** A map that forgets its oldest entries beyond a number of entries and a total weight. */
export class BoundedCache<Value> {
  private readonly entries = new Map<string, Value>();
  private keyLength = 0;

  constructor(
    private readonly maxEntries: number,
    /** Keys are sources, and sources can be long: this bounds the sum of their lengths. */
    private readonly maxKeyLength: number,
  ) {}

  get(key: string): Value | undefined {
    return this.entries.get(key);
  }

  set(key: string, value: Value): void {
    if (!this.entries.has(key)) this.keyLength += key.length;
    this.entries.set(key, value);
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.maxEntries && this.keyLength <= this.maxKeyLength) return;
      this.entries.delete(oldest);
      this.keyLength -= oldest.length;
    }
  }

  get size(): number {
    return this.entries.size;
  }
}
