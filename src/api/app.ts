// Builds the app: mounts every API under its prefix.
import type { FastifyInstance } from 'fastify'
import { createHttp } from '../http/app.ts'
import { serveFiles, UI } from '../http/ui.ts'
import type { Context } from '../process/context.ts'
import { baremetal } from './baremetal/dialect.ts'
import { plainUrl } from './baremetal/spelling.ts'
import { compute } from './compute/dialect.ts'
import type { Dialect } from './frame/dialect.ts'
import { mount, noRoute, refusing } from './frame/mount.ts'
import { identity } from './identity/dialect.ts'
import { image } from './image/dialect.ts'
import { operator } from './operator/dialect.ts'
import { root } from './operator/root.ts'
import { placement } from './placement/dialect.ts'
import { reservation } from './reservation/dialect.ts'
import { ui } from './ui/dialect.ts'

export async function createApp(context: Context): Promise<FastifyInstance> {
  const { app, admission } = await createHttp(context, { tokensAt: identity.prefix + identity.below, plainUrl })
  app.decorateRequest('asked', null)
  const put = <Word extends string>(dialect: Dialect<Word>) => mount(app, dialect, context, admission)
  void app.register(root(context), { prefix: '/' })
  put(placement)
  put(baremetal)
  put(identity)
  put(compute)
  put(image)
  put(reservation)
  put(operator)
  if (context.config.ui === 'on') {
    put(ui)
    const pages = (scope: FastifyInstance, _: object, done: () => void) => {
      scope.setErrorHandler(refusing(operator, context))
      scope.setNotFoundHandler(noRoute)
      serveFiles(scope)
      done()
    }
    void app.register(pages, { prefix: UI })
  }
  return app
}
