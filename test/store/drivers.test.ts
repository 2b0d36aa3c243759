// Both drivers pass the suite that defines the store.
import { openStore } from '../../src/store/open.ts'
import { eachDatabase } from '../support/stores.ts'
import { storeSuite } from './suite.ts'

eachDatabase('the store', databases => {
  storeSuite(async () => openStore(await databases.createEmpty()))
})
