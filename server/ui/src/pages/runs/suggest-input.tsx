/** A text field with suggestions: a combobox whose list replaces the part of the text at the caret. */
import {
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import type { Suggestion, Suggestions } from './suggestions.js';

interface SuggestInputProps {
  /** The accessible name. */
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly suggest: (text: string, caret: number) => Suggestions;
  /** The range to select, with the focus on the field. A new object selects again. */
  readonly selected: { readonly from: number; readonly to: number } | null;
  readonly isInvalid: boolean;
  readonly describedBy: string;
}

export function SuggestInput(props: SuggestInputProps): ReactNode {
  const { label, placeholder, value, onChange, isInvalid, describedBy } = props;
  const listId = useId();
  const { input, items, active, setCaret, setActive, accept, close, onKeyDown } =
    useSuggestions(props);
  return (
    <div className="suggest">
      <input
        ref={input}
        type="search"
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={items.length > 0}
        aria-controls={listId}
        {...(items[active] !== undefined && { 'aria-activedescendant': `${listId}-${active}` })}
        aria-invalid={isInvalid}
        aria-describedby={describedBy}
        placeholder={placeholder}
        value={value}
        maxLength={2000}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          setCaret(target.selectionStart ?? target.value.length);
          setActive(-1);
          onChange(target.value);
        }}
        onClick={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <SuggestionList {...{ listId, items, active }} onChoose={accept} />
    </div>
  );
}

function useSuggestions({ value, onChange, suggest, selected }: SuggestInputProps) {
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState<number | null>(null);
  const [active, setActive] = useState(-1);
  const [placeCaret, setPlaceCaret] = useState<{ readonly at: number } | null>(null);
  const suggestions = caret === null ? NONE : suggest(value, Math.min(caret, value.length));
  const { items } = suggestions;
  useSelections(input, placeCaret, selected);

  const close = (): void => {
    setCaret(null);
    setActive(-1);
  };
  const accept = ({ insert }: Suggestion): void => {
    const before = value.slice(0, suggestions.from) + insert;
    onChange(before + value.slice(suggestions.to));
    setCaret(before.length);
    setPlaceCaret({ at: before.length });
    setActive(-1);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      if (caret === null) setCaret(event.currentTarget.selectionStart);
      else if (items.length > 0) setActive(nextOf(active, step, items.length));
      return;
    }
    const chosen = items[active];
    if (event.key === 'Enter' && chosen !== undefined) {
      event.preventDefault();
      accept(chosen);
    } else if (event.key === 'Enter') close();
    else if (event.key === 'Escape' && items.length > 0) {
      event.preventDefault();
      close();
    }
  };
  return { input, items, active, setCaret, setActive, accept, close, onKeyDown };
}

function useSelections(
  input: RefObject<HTMLInputElement | null>,
  placeCaret: { readonly at: number } | null,
  selected: SuggestInputProps['selected'],
): void {
  useLayoutEffect(() => {
    if (placeCaret !== null) input.current?.setSelectionRange(placeCaret.at, placeCaret.at);
  }, [input, placeCaret]);
  useLayoutEffect(() => {
    if (selected === null) return;
    input.current?.focus();
    input.current?.setSelectionRange(selected.from, selected.to);
  }, [input, selected]);
}

function SuggestionList({
  listId,
  items,
  active,
  onChoose,
}: {
  readonly listId: string;
  readonly items: readonly Suggestion[];
  readonly active: number;
  readonly onChoose: (item: Suggestion) => void;
}): ReactNode {
  return (
    <ul id={listId} role="listbox" aria-label="Suggestions" hidden={items.length === 0}>
      {items.map((item, at) => (
        <li
          key={item.insert}
          id={`${listId}-${at}`}
          role="option"
          aria-selected={at === active}
          // Keeps the focus in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(item)}
        >
          <bdi>{item.label}</bdi> <span className="quiet">{item.detail}</span>
        </li>
      ))}
    </ul>
  );
}

const NONE: Suggestions = { from: 0, to: 0, items: [] };
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** After the last one, none is active, then the first again. */
function nextOf(active: number, step: number, count: number): number {
  const places = count + 1;
  return ((active + 1 + step + places) % places) - 1;
}
