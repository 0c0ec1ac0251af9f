import { stringifyJson } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Button } from './button.js';

/** How many members of a list or object are shown at first. */
const MEMBERS_SHOWN = 50;
const TEXT_SHOWN = 2000;

interface JsonViewProps {
  readonly value: unknown;
  /** How many levels are expanded at first. */
  readonly openLevels?: number;
  readonly label?: string;
  /** The members of the outermost object to highlight, such as those that a step has changed. */
  readonly marked?: ReadonlySet<string>;
}

/**
 * A JSON value as a collapsible tree. Strings are shown as plain text: never as markup, a link or a change of text
 * direction.
 */
export function JsonView({ value, openLevels = 2, label, marked }: JsonViewProps): ReactNode {
  return (
    <div
      className="json"
      role="group"
      aria-label={label ?? 'JSON'}
      // Long values scroll; the focus lets keyboard users scroll them, too.
      tabIndex={0}
    >
      <Value value={value} openLevels={openLevels} {...(marked !== undefined && { marked })} />
    </div>
  );
}

interface ValueProps {
  readonly value: unknown;
  readonly openLevels: number;
  readonly name?: string;
  readonly marked?: ReadonlySet<string>;
}

function Value({ value, openLevels, name, marked }: ValueProps): ReactNode {
  if (typeof value === 'object' && value !== null) {
    return (
      <Members
        value={value}
        openLevels={openLevels}
        {...(name !== undefined && { name })}
        {...(marked !== undefined && { marked })}
      />
    );
  }
  return (
    <div className="json-line">
      <Name name={name} />
      <Scalar value={value} />
    </div>
  );
}

function Name({ name }: { readonly name: string | undefined }): ReactNode {
  if (name === undefined) return null;
  return (
    <span className="json-name">
      <bdi>{name}</bdi>:{' '}
    </span>
  );
}

function Scalar({ value }: { readonly value: unknown }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') {
    return <span className="json-plain">{stringifyJson(value)}</span>;
  }
  const isCut = value.length > TEXT_SHOWN && !isWhole;
  return (
    <>
      <bdi className="json-text">{JSON.stringify(isCut ? value.slice(0, TEXT_SHOWN) : value)}</bdi>
      {isCut && (
        <Button isSmall variant="quiet" onPress={() => setWhole(true)}>
          Show all {value.length} characters
        </Button>
      )}
    </>
  );
}

function Members({
  value,
  openLevels,
  name,
  marked,
}: ValueProps & { readonly value: object }): ReactNode {
  const [isOpen, setOpen] = useState(openLevels > 0);
  const [shown, setShown] = useState(MEMBERS_SHOWN);
  const isList = Array.isArray(value);
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className="json-line">
        <Name name={name} />
        <span className="json-plain">{`${open}${close}`}</span>
      </div>
    );
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span className="json-count">
          {open} {entries.length} {isList ? 'items' : entries.length === 1 ? 'member' : 'members'}{' '}
          {close}
        </span>
      </summary>
      {isOpen && (
        <div className="json-members">
          {entries.slice(0, shown).map(([key, member]) => (
            <div key={key} className={marked?.has(key) === true ? 'json-marked' : undefined}>
              <Value value={member} openLevels={openLevels - 1} name={key} />
            </div>
          ))}
          {entries.length > shown && (
            <Button isSmall variant="quiet" onPress={() => setShown(shown + 10 * MEMBERS_SHOWN)}>
              Show more of {entries.length}
            </Button>
          )}
        </div>
      )}
    </details>
  );
}
