/** Finds secrets in texts. */

/** Any eight bytes of a secret, as they are, in Base64 at any position, and percent-encoded. */
export function leaksIn(text: string, secrets: readonly string[]): readonly string[] {
  return [...leaksWithin(text, secrets), ...leaksWithin(percentDecoded(text), secrets)];
}

function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
  );
}

function leaksWithin(text: string, secrets: readonly string[]): readonly string[] {
  const leaks: string[] = [];
  for (const secret of secrets) {
    const bytes = Buffer.from(secret);
    for (let at = 0; at + 8 <= bytes.length; at += 1) {
      const part = bytes.subarray(at, at + 8);
      const forms = [part.toString(), part.toString('hex')];
      for (const before of [0, 1, 2]) {
        const padded = Buffer.concat([Buffer.alloc(before), part]).toString('base64');
        forms.push(padded.slice(before === 0 ? 0 : before + 1, 10));
      }
      leaks.push(...forms.filter((form) => text.includes(form)));
    }
  }
  return leaks;
}
