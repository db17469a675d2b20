import { describe, expect, it } from 'vitest';
import { NodeBusy } from '../../src/http/answers/respond.js';
import { createNodeLoad, type NodeLoad, type TakenRequest } from '../../src/http/limits/node-load.js';
import { gate } from '../agreements/support.js';

const SOCKET = { destroyed: false };

/** Creates a node's load control, on a clock that a test moves. */
function aNode(limits: Parameters<typeof createNodeLoad>[0] = {}) {
  let now = 0;
  const load = createNodeLoad(limits, () => now);
  const inside: TakenRequest[] = [];
  const enter = (who = 'channel') => {
    const visit = load.enter(who, SOCKET);
    visit.markAdmitted();
    inside.push(visit);
    return visit;
  };
  return {
    load,
    enter,
    /** Admits as many requests as possible, and returns their number. */
    fill(who = 'channel'): number {
      let count = 0;
      for (; load.mayEnter(who) && count < 100_000; count += 1) enter(who);
      return count;
    },
    /** Ends `perSecond` requests in each second, and admits a new request for each of them if possible. */
    serve(perSecond: number, seconds: number): void {
      for (let n = 0; n < perSecond * seconds; n += 1) {
        now += 1_000 / perSecond;
        inside.shift()?.leave();
        if (load.mayEnter('channel')) enter();
      }
    },
    /** Ends all requests, `perSecond` of them in each second. */
    drain(perSecond: number): void {
      for (const visit of inside.splice(0)) {
        now += 1_000 / perSecond;
        visit.leave();
      }
    },
    /** Ends all requests. */
    empty(): void {
      for (const visit of inside.splice(0)) visit.leave();
    },
    pass(ms: number): void {
      now += ms;
    },
  };
}

const most = (load: NodeLoad) => load.counts().most;

describe('the number of requests that a node accepts', () => {
  it('a cold node: up to five hundred', () => {
    const { load, fill } = aNode();
    expect(fill()).toBe(500);
    expect(() => load.enter('channel', SOCKET)).toThrow(NodeBusy);
  });

  it('after a busy second: what it can serve in 0.8 s', () => {
    const { load, fill, serve } = aNode();
    fill();
    serve(400, 3);
    expect(most(load)).toBeGreaterThan(305);
    expect(most(load)).toBeLessThan(335);
  });

  it('a slow node: at least fifty', () => {
    const { load, fill, serve } = aNode();
    fill();
    serve(10, 3);
    expect(most(load)).toBe(50);
  });

  it('grows if the node serves more than measured', () => {
    const { load, fill, serve } = aNode({ unmeasured: 200 });
    fill();
    serve(200, 3);
    serve(1_500, 3);
    expect(most(load)).toBeGreaterThan(1_120);
  });

  it('does not grow after many in a quarter of a second, because requests end in batches', () => {
    const { load, fill, serve, drain, enter, empty, pass } = aNode({ unmeasured: 200 });
    fill();
    serve(200, 3);
    const before = most(load);
    drain(200);
    pass(2_000);
    // The node serves three times its rate within a quarter of a second and then pauses. The limit must not change.
    for (let n = 0; n < 150; n += 1) enter();
    empty();
    pass(1_000);
    expect(most(load)).toBe(before);
  });

  it('falls only a little right after a flood, when nothing is served yet', () => {
    const { load, fill, serve, drain, pass } = aNode({ unmeasured: 200 });
    fill();
    serve(200, 3);
    const before = most(load);
    drain(200);
    pass(2_000);
    fill();
    pass(1_300);
    expect(most(load)).toBeGreaterThan(before * 0.7);
    expect(most(load)).toBeLessThan(before);
  });

  it('is that of a cold node after a quiet minute', () => {
    const { load, fill, serve, empty, pass } = aNode();
    fill();
    serve(150, 3);
    expect(most(load)).toBeLessThan(200);
    empty();
    pass(61_000);
    expect(most(load)).toBe(500);
  });

  it('falls only a little if the database stalls for half a second', () => {
    const { load, fill, serve, pass } = aNode();
    fill();
    serve(2_000, 3);
    const before = most(load);
    pass(500);
    expect(most(load)).toBeGreaterThan(before * 0.7);
  });

  it('requests that wait for an institution are not counted meanwhile', async () => {
    const { load, enter } = aNode({ alwaysAllowed: 3, unmeasured: 3 });
    const visits = [enter(), enter(), enter()];
    expect(load.mayEnter('channel')).toBe(false);
    const institution = gate();
    const waiting = visits[0]?.waitOutside(() => institution.passed);
    expect(load.mayEnter('channel')).toBe(true);
    institution.open();
    await waiting;
    expect(load.mayEnter('channel')).toBe(false);
  });

  it('leaving twice counts once', () => {
    const { load, enter } = aNode();
    const visit = enter();
    visit.leave();
    visit.leave();
    expect(load.counts().inside).toBe(0);
  });
});

describe('one channel that floods a node', () => {
  it('is refused, and requests of another channel are accepted', () => {
    const { load, fill, enter } = aNode({ alwaysAllowed: 10, unmeasured: 100 });
    expect(fill('flood')).toBe(100);
    expect(load.mayEnter('flood')).toBe(false);
    for (let n = 0; n < 50; n += 1) enter('small');
    expect(load.mayEnter('small')).toBe(false);
    expect(load.mayEnter('third')).toBe(true);
  });

  it('any number of channels together get at most three times the usual limit', () => {
    const { load, fill, enter } = aNode({ alwaysAllowed: 10, unmeasured: 100 });
    fill('flood');
    let n = 0;
    for (; load.mayEnter(`channel ${n}`) && n < 1_000; n += 1) enter(`channel ${n}`);
    expect(load.counts().inside).toBeLessThanOrEqual(300);
  });
});

it('a caller waits two seconds while connected, and until the end once its request was begun', () => {
  const { load, enter, pass } = aNode();
  const socket = { destroyed: false };
  const gone = load.enter('channel', socket);
  socket.destroyed = true;
  expect(gone.isWaiting()).toBe(false);
  const [caller, begun] = [enter(), enter()];
  begun.markBegun();
  expect([caller.isWaiting(), caller.waitLeftMs()]).toEqual([true, 2_000]);
  pass(2_001);
  expect(caller.isWaiting()).toBe(false);
  expect([begun.isWaiting(), begun.waitLeftMs()]).toEqual([true, Number.POSITIVE_INFINITY]);
});
