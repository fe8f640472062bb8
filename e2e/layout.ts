import type { Page } from '@playwright/test'

/** The globals of the page used here. Node programs have no DOM types. */
type Box = { left: number; right: number; top: number; bottom: number }
type Style = Record<'overflowX' | 'overflowY' | 'visibility' | 'opacity' | 'textOverflow' | 'position', string>
type Element = {
  tagName: string
  parentElement: Element | null
  scrollWidth: number
  clientWidth: number
  getBoundingClientRect(): Box
  closest(selector: string): Element | null
  contains(other: Element): boolean
}
type Text = { data: string; parentElement: Element | null }
type InPage = {
  innerWidth: number
  document: {
    documentElement: Element
    body: Element
    createTreeWalker(root: Element, what: number): { nextNode(): Text | null }
    createRange(): {
      setStart(node: Text, at: number): void
      setEnd(node: Text, at: number): void
      getClientRects(): ArrayLike<Box>
    }
  }
  getComputedStyle: (element: Element) => Style
  shifted: number
  moved: string[]
}

/**
 * Layout faults of the page's text: a page wider than the window, text that is cut or shortened without its full form
 * anywhere, words broken in the middle, and overlapping lines.
 */
export const layoutFaults = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { document, innerWidth, getComputedStyle } = globalThis as unknown as InPage
    const faults = new Set<string>()
    const width = document.documentElement.scrollWidth
    if (width > innerWidth) faults.add(`the page is ${width - innerWidth} px wider than the window`)

    const styles = new Map<Element, Style>()
    const styleOf = (element: Element) => {
      const known = styles.get(element) ?? getComputedStyle(element)
      styles.set(element, known)
      return known
    }
    /** The visible part of an element; undefined if none. */
    const clips = new Map<Element, Box | undefined>()
    const clipOf = (element: Element | null): Box | undefined => {
      if (!element) return { left: -1e6, right: 1e6, top: -1e6, bottom: 1e6 }
      if (clips.has(element)) return clips.get(element)
      const around = clipOf(element.parentElement)
      const { overflowX, overflowY, opacity, visibility } = styleOf(element)
      let box = visibility === 'hidden' || opacity === '0' ? undefined : around
      if (box && element !== document.body && element !== document.documentElement) {
        const own = element.getBoundingClientRect()
        if (overflowX !== 'visible')
          box = { ...box, left: Math.max(box.left, own.left), right: Math.min(box.right, own.right) }
        if (overflowY !== 'visible')
          box = { ...box, top: Math.max(box.top, own.top), bottom: Math.min(box.bottom, own.bottom) }
        if (box.right - box.left <= 1 || box.bottom - box.top <= 1) box = undefined
      }
      clips.set(element, box)
      return box
    }

    type Line = Box & { element: Element; words: string }
    const lines: Line[] = []
    const SHOW_TEXT = 4
    const walker = document.createTreeWalker(document.body, SHOW_TEXT)
    const range = document.createRange()
    const boxesOf = (node: Text, from: number, to: number) => {
      range.setStart(node, from)
      range.setEnd(node, to)
      return Array.from(range.getClientRects()).filter(box => box.right - box.left > 1)
    }
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement
      const words = node.data.trim()
      if (!element || !words || element.closest('script, style, noscript, option, svg, .sr-only')) continue
      const folded = element.closest('details:not([open])')
      if (folded && !element.closest('summary')) continue
      const clip = clipOf(element)
      if (!clip) continue
      const boxes = boxesOf(node, 0, node.data.length)
      for (const box of boxes) {
        const seen = {
          left: Math.max(box.left, clip.left),
          right: Math.min(box.right, clip.right),
          top: Math.max(box.top, clip.top),
          bottom: Math.min(box.bottom, clip.bottom)
        }
        // Elements above the page are off screen until needed.
        if (seen.right - seen.left > 2 && seen.bottom - seen.top > 4 && seen.bottom > 0)
          lines.push({ ...seen, element, words })
      }
      // Cut by a box that cannot scroll. That is allowed with an ellipsis and the full text in a tooltip.
      for (let around: Element | null = element; around && around !== document.body; around = around.parentElement) {
        const { overflowX, textOverflow } = styleOf(around)
        if (overflowX === 'auto' || overflowX === 'scroll') break
        if (overflowX === 'visible' || around.scrollWidth <= around.clientWidth + 1) continue
        const end = around.getBoundingClientRect().right
        if (!boxes.some(box => box.right > end + 1)) continue
        if (textOverflow !== 'ellipsis') faults.add(`cut off: ${words.slice(0, 60)}`)
        else if (!element.closest('[title]')) faults.add(`shortened: ${words.slice(0, 60)}`)
        break
      }
      if (boxes.length > 1 && !element.closest('code, pre, [data-break]'))
        // Text longer than any word, such as an address, may break anywhere.
        for (const part of node.data.matchAll(/[!-~\u{c0}-\u{24f}]+/gu))
          for (const word of part[0].length > 24 ? [] : part[0].matchAll(/[\p{Script=Latin}\d$.,%]{2,}/gu)) {
            const from = part.index + word.index
            const tops = boxesOf(node, from, from + word[0].length).map(box => Math.round(box.top / 4))
            if (new Set(tops).size > 1) faults.add(`broken in the middle: ${word[0]} (${words.slice(0, 60)})`)
          }
    }

    const isOver = (element: Element): boolean => {
      for (let around: Element | null = element; around; around = around.parentElement)
        if (['fixed', 'sticky'].includes(styleOf(around).position)) return true
      return false
    }
    lines.sort((a, b) => a.top - b.top)
    lines.forEach((line, at) => {
      for (let next = at + 1; next < lines.length; next++) {
        const other = lines[next]
        if (!other || other.top > line.bottom - 4) break
        if (other.element === line.element || other.element.contains(line.element)) continue
        const across = Math.min(line.right, other.right) - Math.max(line.left, other.left)
        const down = Math.min(line.bottom, other.bottom) - other.top
        if (across <= 3 || down <= 5) continue
        if (isOver(line.element) !== isOver(other.element)) continue
        // An open dialog covers the page.
        if (line.element.closest('[role="dialog"]') !== other.element.closest('[role="dialog"]')) continue
        faults.add(`on each other: ${line.words.slice(0, 40)} / ${other.words.slice(0, 40)}`)
      }
    })
    return [...faults]
  })

type Moved = {
  node: { textContent: string | null } | null
  previousRect: { top: number }
  currentRect: { top: number }
}
type Shift = { value: number; hadRecentInput: boolean; sources: Moved[] }

/** Sums up the layout shifts of each page opened from now on. */
export const watchShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const inPage = globalThis as unknown as InPage
    inPage.shifted = 0
    inPage.moved = []
    new PerformanceObserver(list => {
      for (const { value, hadRecentInput, sources } of list.getEntries() as unknown as Shift[]) {
        if (hadRecentInput) continue
        inPage.shifted += value
        const told = sources.map(({ node, previousRect, currentRect }) => {
          const words = node?.textContent?.slice(0, 30) ?? 'what is gone'
          return `${words}: ${Math.round(previousRect.top)} to ${Math.round(currentRect.top)} px`
        })
        inPage.moved.push(`${value.toFixed(4)} (${told.join('; ')})`)
      }
    }).observe({ type: 'layout-shift', buffered: true } as never)
  })

/** The sum of layout shifts as browsers measure them (CLS). */
export const shiftOf = (page: Page): Promise<number> => page.evaluate(() => (globalThis as unknown as InPage).shifted)

/** What moved and how far, for assertion messages. */
export const movedIn = async (page: Page): Promise<string> =>
  (await page.evaluate(() => (globalThis as unknown as InPage).moved)).join(', ')
