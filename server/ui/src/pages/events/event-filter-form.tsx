import { useState, type ReactNode } from 'react';
import { Button } from '../../components/button.js';

interface EventFilterFormProps {
  readonly name: string;
  readonly eventKey: string;
  /** With both members, or with neither. */
  readonly onFilter: (filter: Record<string, string>) => void;
}

/** Filters events by name and key, because the server has no index on either of them alone. */
export function EventFilterForm(props: EventFilterFormProps): ReactNode {
  const [name, setName] = useState(props.name);
  const [key, setKey] = useState(props.eventKey);
  const isFiltered = props.name !== '';
  return (
    <form
      className="event-filter"
      onSubmit={(event) => {
        event.preventDefault();
        props.onFilter({ name, key });
      }}
    >
      <label className="field">
        <span>Event name</span>
        <input required value={name} onChange={({ target }) => setName(target.value)} />
      </label>
      <label className="field">
        <span>Event key</span>
        <input required value={key} onChange={({ target }) => setKey(target.value)} />
      </label>
      <Button type="submit">Show</Button>
      {isFiltered && <Button onPress={() => props.onFilter({})}>Show all</Button>}
    </form>
  );
}
