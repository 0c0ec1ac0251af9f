import { useEffect, useState } from 'react';

/** The pause after a keystroke. */
const PAUSE_MS = 300;

/** Returns the text once the user has stopped typing. */
export function useSettled(text: string | null): string | null {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
