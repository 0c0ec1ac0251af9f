// Preloaded into nodes under test (NODE_OPTIONS): their clock is wrong by what a file says, in milliseconds, which may
// change at any time, as when somebody sets a machine's clock. Nothing of the server knows of it.
import { readFileSync } from 'node:fs';

const READ_MS = 10;
const file = process.env.CLOCK_FILE ?? '';
const RealDate = Date;

function read() {
  try {
    // A text that is being written may be empty for a moment.
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
