import { render, screen } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { Ago, fullText, Moment, momentText, zoneText } from './time.tsx'

const AT = '2026-06-15T08:00:05.123Z'

/** Node and browsers use different spaces before AM and PM. */
const plain = (text: string) => text.replaceAll(/\s/g, ' ')

describe('an instant', () => {
  it('that has just happened does not lie ahead, though the clock was looked at before it', () => {
    render(<Ago at={new Date(Date.now() + 4000).toISOString()} />)
    expect(screen.getByText('now')).toBeTruthy()
  })

  it('that is to come does', () => {
    render(<Ago at={new Date(Date.now() + 130_000).toISOString()} />)
    expect(screen.getByText('in 2 minutes')).toBeTruthy()
  })

  it('is told in full in the reader’s zone, which is named, and in UTC', () => {
    expect(plain(fullText(AT, 'en', 'Europe/Berlin'))).toBe(
      'Jun 15, 2026, 10:00:05 AM GMT+2 (Europe/Berlin) = 2026-06-15 08:00:05 UTC'
    )
    expect(plain(fullText(AT, 'zh-CN', 'Asia/Shanghai'))).toMatch(/16:00:05.*Asia\/Shanghai.*2026-06-15 08:00:05 UTC/)
    expect(fullText(AT, 'en', 'UTC')).toBe('2026-06-15 08:00:05 UTC')
  })

  it('has the offset of its own season', () => {
    expect(zoneText(new Date(AT), 'en', 'Europe/Berlin')).toBe('Europe/Berlin (GMT+2)')
    expect(zoneText(new Date('2026-01-15T08:00:00Z'), 'en', 'Europe/Berlin')).toBe('Europe/Berlin (GMT+1)')
    expect(plain(momentText(AT, 'en', 'Asia/Kolkata'))).toBe('Jun 15, 2026, 1:30:05 PM GMT+5:30')
  })

  it('calls UTC by its name where there is no offset', () => {
    expect(plain(momentText(AT, 'en', 'UTC'))).toBe('Jun 15, 2026, 8:00:05 AM UTC')
    expect(plain(momentText(AT, 'zh-CN', 'UTC'))).toMatch(/8:00:05 UTC$/)
    expect(zoneText(new Date('2026-01-15T08:00:00Z'), 'en', 'Europe/London')).toBe('Europe/London (UTC)')
  })

  it('is a time element whose title has the whole, and says how far it is where that is asked for', () => {
    render(<Moment at={AT} ago />)
    const [exact, relative] = screen.getAllByText((_, node) => node?.tagName === 'TIME')
    expect(exact?.getAttribute('datetime')).toBe(AT)
    expect(exact?.title).toContain('2026-06-15 08:00:05 UTC')
    expect(relative?.title).toBe(exact?.title)
  })
})
