/** What every field of a form has around its control: label, help and problems. */
import { createContext, use, useId, type ReactNode } from 'react';
import { Draft, writeData, type DataValue } from './data-value.js';
import type { Field } from './form-fields.js';

/** The messages for each field, by its pointer. */
export const MessagesContext = createContext<ReadonlyMap<string, readonly string[]>>(new Map());

export interface FieldProps<FieldKind extends Field = Field> {
  readonly field: FieldKind;
  /** The name of the member, or the number of the element. */
  readonly name: string;
  readonly pointer: string;
  readonly isRequired: boolean;
  /** Undefined if the member is missing. */
  readonly value: DataValue | undefined;
  /** Called with undefined to remove the member. */
  readonly onChange: (value: DataValue | undefined) => void;
}

/** The attributes that connect a control with its label, help and problems. */
export interface ControlAttributes {
  readonly id: string;
  readonly disabled: boolean;
  readonly 'aria-required': boolean;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

interface FieldFrameProps extends FieldProps {
  readonly children: (attributes: ControlAttributes) => ReactNode;
  /** Shown after the label, such as a button that removes the field. */
  readonly action?: ReactNode;
  readonly note?: string;
}

export function FieldFrame(props: FieldFrameProps): ReactNode {
  const { field, name, pointer, isRequired, value, onChange, children, action, note } = props;
  const id = useId();
  const helpId = useId();
  const messages = useMessages(pointer, value);
  return (
    <div className="form-field">
      <div className="form-label">
        <label htmlFor={id}>
          <bdi>{field.title}</bdi>
        </label>
        <Marks field={field} name={name} isRequired={isRequired} />
        {action}
      </div>
      {children({
        id,
        disabled: value === null && field.isNullable,
        'aria-required': isRequired,
        'aria-invalid': messages.length > 0,
        'aria-describedby': helpId,
      })}
      {field.isNullable && (
        <NullBox title={field.title} isNull={value === null} onChange={onChange} />
      )}
      <div id={helpId}>
        <Help field={field} {...(note !== undefined && { note })} />
        <Messages messages={messages} />
      </div>
    </div>
  );
}

/** That the field is required, and the name of its member if the title is another. */
export function Marks({
  field,
  name,
  isRequired,
}: Pick<FieldProps, 'field' | 'name' | 'isRequired'>): ReactNode {
  return (
    <>
      {isRequired && (
        <span className="form-required" title="required" aria-hidden="true">
          *
        </span>
      )}
      {field.title !== name && (
        <code className="quiet">
          <bdi>{name}</bdi>
        </code>
      )}
    </>
  );
}

export function Help({
  field,
  note = '',
}: {
  readonly field: Field;
  readonly note?: string;
}): ReactNode {
  const { description, limits, defaultValue } = field;
  const isShort = defaultValue !== undefined && typeof defaultValue !== 'object';
  const notes = [note, limits, isShort ? `default: ${writeData(defaultValue)}` : ''].filter(
    (text) => text !== '',
  );
  return (
    <>
      {description !== null && (
        <p className="hint form-description">
          <bdi>{description}</bdi>
        </p>
      )}
      {notes.length > 0 && (
        <p className="hint">
          <bdi>{notes.join(' · ')}</bdi>
        </p>
      )}
    </>
  );
}

export function Messages({ messages }: { readonly messages: readonly string[] }): ReactNode {
  return messages.map((message) => (
    <p key={message} className="form-message">
      <bdi>{message}</bdi>
    </p>
  ));
}

/** The problems at a field. An empty field is a problem only once the user has sent the form. */
export function useMessages(pointer: string, value?: DataValue): readonly string[] {
  const sent = use(MessagesContext).get(pointer) ?? [];
  const own = value instanceof Draft && value.text !== '' ? [value.message] : [];
  return [...new Set([...own, ...sent])];
}

function NullBox({
  title,
  isNull,
  onChange,
}: {
  readonly title: string;
  readonly isNull: boolean;
  readonly onChange: (value: DataValue | undefined) => void;
}): ReactNode {
  return (
    <label className="form-null">
      <input
        type="checkbox"
        aria-label={`${title} is null`}
        checked={isNull}
        onChange={({ target }) => onChange(target.checked ? null : undefined)}
      />
      <span>null</span>
    </label>
  );
}
