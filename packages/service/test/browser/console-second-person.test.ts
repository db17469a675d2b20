import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { operatorStage } from '../console/operators.js';
import { ofFile } from '../orders/stage-of-file.js';
import { consoleBrowser, ON_THIS_MACHINE } from './console.js';
import { browserOfFile } from './support.js';

const browser = browserOfFile();
const on = ofFile(() => operatorStage({ ...ON_THIS_MACHINE, environment: 'production' }));
const at = consoleBrowser(browser, () => on.service);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Returns the page of an admin who can sign in. */
async function adminPage(name: string): Promise<Page> {
  const page = await at.person('admin', name);
  await on.sql(`update people set password_hash = 'set' where name = $1`, [name]);
  return page;
}

describe('a change that needs two admins', () => {
  it('waits, is approved by another admin, and shows its link to the requester', async () => {
    const [ada, carl] = [await adminPage('ada'), await adminPage('carl')];
    await ada.goto('/console/people');
    await button(ada, 'New operator').click();
    const form = ada.getByRole('dialog', { name: 'New operator' });
    await form.getByLabel('Name').fill('fin');
    await form.getByLabel('Finance').check();
    await form.getByRole('button', { name: 'Create account' }).click();
    await form.getByText('Nothing was changed yet: another admin has to approve this.').waitFor();
    await form.getByRole('link', { name: /^Approval \d+$/ }).click();
    await ada.getByText('You requested this. Another admin has to decide.').waitFor();

    await carl.goto('/console/approvals');
    await carl.getByText('Create account fin').first().click();
    await carl.getByRole('region', { name: 'What changes' }).getByText('Finance').waitFor();
    await button(carl, 'Approve').click();
    await carl.getByText('approved; ada can carry it out within a day').waitFor();

    await ada.goto('/console/approvals');
    await button(ada, 'Create account fin').click();
    await button(ada, 'Carry out and show').click();
    const shown = ada.getByRole('dialog', { name: /^Result of approval/ });
    await shown.getByText(/\/console\/setup#/).waitFor();
    await shown.getByLabel('I have stored it').check();
    await shown.getByRole('button', { name: 'Done' }).click();
    await ada.goto('/console/people');
    await ada.getByText('fin', { exact: true }).waitFor();
    expect(await carl.getByText('setup#').count()).toBe(0);
  });
});
