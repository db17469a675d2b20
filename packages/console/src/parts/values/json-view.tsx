import { Code } from '@mantine/core';

/** Shows a value as formatted JSON. */
export function JsonView({ value }: { readonly value: unknown }) {
  return (
    <Code block tabIndex={0} mah={420} mb={6} bd="1px solid var(--line)" style={{ overflow: 'auto' }}>
      {JSON.stringify(value, null, 2)}
    </Code>
  );
}
