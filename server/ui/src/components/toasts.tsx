import { createContext, use, useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { problemText } from './problem-view.js';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
}

export interface Toasts {
  /** Shows a message for a few seconds. */
  readonly say: (text: string) => void;
  /** Shows an error message that stays until the user closes it. */
  readonly notifyError: (what: string, error: unknown) => void;
}

const SHOWN_MAX = 4;
const SHOWN_MS = 6000;

const ToastContext = createContext<Toasts | null>(null);

export function useToasts(): Toasts {
  const toasts = use(ToastContext);
  if (toasts === null) throw new Error('useToasts requires a ToastProvider');
  return toasts;
}

export function ToastProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [shown, setShown] = useState<readonly Toast[]>([]);
  const nextId = useRef(0);
  const close = useCallback((id: number) => {
    setShown((before) => before.filter((toast) => toast.id !== id));
  }, []);
  const toasts = useMemo<Toasts>(() => {
    const show = (text: string, isBad: boolean): number => {
      const id = (nextId.current += 1);
      setShown((before) => {
        // The same message again replaces the earlier one.
        const others = before.filter((toast) => toast.text !== text);
        return [...others.slice(1 - SHOWN_MAX), { id, text, isBad }];
      });
      return id;
    };
    return {
      say: (text) => {
        const id = show(text, false);
        setTimeout(() => close(id), SHOWN_MS);
      },
      notifyError: (what, error) => void show(`${what}: ${problemText(error)}`, true),
    };
  }, [close]);
  return (
    <ToastContext value={toasts}>
      {children}
      <div className="toasts" role="region" aria-label="Messages">
        <div aria-live="polite">
          {shown.map(({ id, text, isBad }) => (
            <div key={id} className={isBad ? 'toast bad' : 'toast'}>
              <span>{text}</span>
              <button type="button" aria-label="Close message" onClick={() => close(id)}>
                ×
              </button>
            </div>
          ))}
        </div>
      </div>
    </ToastContext>
  );
}
