/** Finds secrets in texts. */

/** Of every form below. */
const HEAD_LENGTH = 4;

/** Any eight bytes of a secret, as they are, in hexadecimal, in Base64 at any position, and percent-encoded. */
export function leaksIn(text: string, secrets: readonly string[]): readonly string[] {
  const forms = formsOf(secrets);
  return [...leaksWithin(text, forms), ...leaksWithin(percentDecoded(text), forms)];
}

function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
  );
}

/** By their first characters. */
type Forms = ReadonlyMap<string, readonly string[]>;

function formsOf(secrets: readonly string[]): Forms {
  const forms = new Map<string, string[]>();
  for (const secret of secrets) {
    const bytes = Buffer.from(secret);
    for (let at = 0; at + 8 <= bytes.length; at += 1) {
      for (const form of writtenForms(bytes.subarray(at, at + 8))) {
        const head = form.slice(0, HEAD_LENGTH);
        forms.set(head, [...(forms.get(head) ?? []), form]);
      }
    }
  }
  return forms;
}

function writtenForms(part: Buffer): readonly string[] {
  const encoded = [0, 1, 2].map((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), part]).toString('base64');
    return padded.slice(before === 0 ? 0 : before + 1, 10);
  });
  return [part.toString(), part.toString('hex'), ...encoded];
}

/** In one pass: the texts are long, and the forms many. */
function leaksWithin(text: string, forms: Forms): readonly string[] {
  const leaks = new Set<string>();
  for (let at = 0; at + HEAD_LENGTH <= text.length; at += 1) {
    const found = forms.get(text.slice(at, at + HEAD_LENGTH));
    for (const form of found ?? []) if (text.startsWith(form, at)) leaks.add(form);
  }
  return [...leaks];
}
