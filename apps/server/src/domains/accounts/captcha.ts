import { refuse } from '@netlet/contract'
import { renderAsync } from '@resvg/resvg-js'
import { and, eq, gt } from '../../infra/db/drizzle.ts'
import { createMathExpr } from 'svg-captcha'
import { MINUTE } from '../../infra/clock.ts'
import type { Actor, UserActor, VisitorActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { limitedClient, widestNetwork } from '../../infra/http/client-address.ts'
import { ok, type Result } from '../../infra/result.ts'
import { createLimiter } from '../../infra/turns.ts'
import { captchas } from './tables.ts'

const CAPTCHA_LIFE = 5 * MINUTE

/** Anyone may request captchas. Each blocks the thread for milliseconds, so other requests come in between, and clients take turns. */
const turns = createLimiter({ atOnce: 1, longest: 100, each: 10 })

/** A sum as a picture. A flood gets 'unavailable'. */
export async function createCaptcha(
  ctx: AppContext,
  by: UserActor | VisitorActor
): Promise<Result<{ captcha_image_base: string; captcha_id: string }>> {
  const key = widestNetwork(limitedClient(by))
  if (turns.isFull({ key })) return refuse('unavailable')
  const { answer, png } = await turns.take(draw, { key })
  const [made] = await command(ctx, by, ({ tx, now }) =>
    tx
      .insert(captchas)
      .values({ answer, createdAt: now, expiresAt: new Date(now.getTime() + CAPTCHA_LIFE) })
      .returning({ id: captchas.id })
  )
  if (!made) throw new Error('the captcha was not stored')
  return ok({ captcha_image_base: `data:image/png;base64,${png.toString('base64')}`, captcha_id: made.id })
}

/** Rasterized paths: a script could read the glyphs of an SVG, and no installed font is needed. */
async function draw(): Promise<{ answer: number; png: Buffer }> {
  const { data: svg, text: answer } = createMathExpr({
    mathMin: 2,
    mathMax: 49,
    mathOperator: '+',
    width: 180,
    height: 56,
    fontSize: 48,
    noise: 4,
    // Dark greys. With `color` it would choose random colours, some hardly visible.
    color: false
  })
  const picture = await renderAsync(svg, {
    font: { loadSystemFonts: false },
    fitTo: { mode: 'zoom', value: 2 },
    background: '#f4f5f7'
  })
  return { answer: Number(answer), png: picture.asPng() }
}

/**
 * Checks an answer. The captcha is used up, right or wrong. A command of its own, because a refusal of what it protects
 * must not restore it.
 */
export async function consumeCaptcha(
  ctx: AppContext,
  by: Actor,
  id: string | undefined,
  answer: number | undefined
): Promise<boolean> {
  if (id === undefined || answer === undefined) return false
  const [taken] = await command(ctx, by, ({ tx, now }) =>
    tx
      .delete(captchas)
      .where(and(eq(captchas.id, id), gt(captchas.expiresAt, now)))
      .returning({ answer: captchas.answer })
  )
  return taken !== undefined && taken.answer === answer
}
