import { useState, type ReactNode } from 'react';
import { Button } from './button.js';

/** A button that copies a text, such as an id, to the clipboard. */
export function CopyText({
  text,
  what,
}: {
  readonly text: string;
  readonly what: string;
}): ReactNode {
  const [isCopied, setCopied] = useState(false);
  // Browsers offer the clipboard only on secure connections.
  if (!('clipboard' in navigator)) return null;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <Button isSmall variant="quiet" label={`Copy ${what}`} onPress={() => void copy()}>
      {isCopied ? 'copied' : 'copy'}
    </Button>
  );
}
