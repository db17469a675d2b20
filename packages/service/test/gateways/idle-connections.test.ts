import { expect, it } from 'vitest';
import type { Connection } from '../../src/platform/http-client/connection.js';
import { createIdleConnections } from '../../src/platform/http-client/idle-connections.js';

interface Fake extends Connection {
  disturb(): void;
}

function fakeConnection(): Fake {
  let isOpen = true;
  let onDisturbed: (error?: Error) => void = () => undefined;
  return {
    openedAt: performance.now(),
    isOpen: () => isOpen,
    close() {
      isOpen = false;
    },
    watchWhileIdle(disturbed) {
      onDisturbed = disturbed;
    },
    disturb: () => onDisturbed(),
    holdProcess: () => undefined,
    partialAnswer: () => undefined,
    send: () => undefined,
  };
}

it('512 are kept, however many were taken or closed before', () => {
  const idle = createIdleConnections();
  const kept = () => {
    const connection = fakeConnection();
    idle.keep('http://a', connection);
    return connection;
  };
  for (let nth = 0; nth < 600; nth += 1) {
    const connection = kept();
    expect(idle.take('http://a')).toBe(connection);
    kept().disturb();
  }
  const many = Array.from({ length: 600 }, kept);
  expect(many.filter((one) => one.isOpen())).toHaveLength(512);
  idle.close();
  expect(many.filter((one) => one.isOpen())).toEqual([]);
});
