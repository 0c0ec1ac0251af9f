// Preloaded into nodes under test (NODE_OPTIONS): a node that is about to store or send the mark dies immediately, as
// if it had hit a fault of the engine. The server itself contains no support for this.
const MARK = 'crash-mark!';
const stringify = JSON.stringify;

JSON.stringify = (...values) => {
  const text = stringify(...values);
  if (typeof text === 'string' && text.includes(MARK)) process.kill(process.pid, 'SIGKILL');
  return text;
};
