// Preloaded into nodes under test (NODE_OPTIONS): their clock is off by the number of milliseconds in a file, which may
// change at any time, as if somebody set the clock of the machine. The server itself contains no support for this.
import { readFileSync } from 'node:fs';

const READ_MS = 10;
const file = process.env.CLOCK_FILE ?? '';
const RealDate = Date;

function read() {
  try {
    // A file that is being written may be empty for a moment.
    return Number(readFileSync(file, 'utf8') || wrongMs);
  } catch {
    return wrongMs;
  }
}

let wrongMs = 0;
wrongMs = read();
setInterval(() => {
  wrongMs = read();
}, READ_MS).unref();

globalThis.Date = class Date extends RealDate {
  constructor(...values) {
    if (values.length === 0) super(RealDate.now() + wrongMs);
    else super(...values);
  }

  static now() {
    return RealDate.now() + wrongMs;
  }
};
